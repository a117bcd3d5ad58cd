"""`python -m lab …`."""

from .cli import lab_cli

if __name__ == "__main__":
    lab_cli(prog_name="python -m lab")
