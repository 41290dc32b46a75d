"""The mutation study of the grader: the reference with one small mistake made mechanically, graded, counted."""
