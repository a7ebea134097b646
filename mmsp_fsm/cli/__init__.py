"""The commands: a module each, loaded when it is asked for. `mmsp_fsm.cli.main` is the door to them."""
