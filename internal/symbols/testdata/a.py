"""def no(): pass"""
LIMIT = 3
@cache
async def fetch(a, b="def x():"):
    def inner():
        pass
    return {
        "class": 1,
    }

class Store(Base,
            Other):
    count: int = 0
    @property
    def size(self): return 1
    class Meta: pass

if x:
    def guarded(): ...
