"""Assignment HW2: MiniTorch's automatic differentiation and a sentiment classifier."""
