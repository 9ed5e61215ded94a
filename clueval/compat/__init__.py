"""Other tools' interfaces, file layouts and procedures; each says where it behaves better than its original.

Each file or package stands for one tool and is read alone. Nothing but the command line imports from here.
"""
