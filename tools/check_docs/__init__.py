"""Every command of the documentation is run, or at least read by the program that it is for."""
