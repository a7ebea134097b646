"""The commands: a module each, loaded when it is asked for. `mmsp_fsm.cli` is the door to them."""
