"""The measured programs, a file each; ``serve(way, orders, **options)`` is the entry."""
