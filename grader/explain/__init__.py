"""Why a check failed: a known mistake by the fault dictionary, or else what the numbers and the calls say.

Levels (``--explain``): ``none`` says nothing; ``where`` only in which part of a tensor, or at which call, it is wrong;
``hint``, the default, names the mistake and gives its hint; ``full`` adds measured numbers. Nothing here shows a value
of a fixture; ``full`` leaves numbers out for sets that are not public.
"""
