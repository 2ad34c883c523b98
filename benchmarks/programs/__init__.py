"""What is measured, a file each; ``serve(way, orders, **options)`` is its entry."""
