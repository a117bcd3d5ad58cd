"""Pipeline components."""
