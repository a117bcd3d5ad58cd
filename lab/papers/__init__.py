"""The tables and figures of four papers, filled with our results.

A paper is a file in data/, what it prints and what fills it, and a module with what is
special to it.
"""
