"""tmp"""
from cardenvs.core.view import View
class GinRummyView(View):
    pass
