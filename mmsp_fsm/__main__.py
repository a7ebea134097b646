"""`python -m mmsp_fsm` is the command `mmsp-fsm`."""

from mmsp_fsm.cli.main import main

if __name__ == "__main__":
    main()
