"""Train translation models: `python -m fuselage.train CONFIG.yml`.

The packages of the extra `train` are needed: `pip install fuselage[train]`.
"""
