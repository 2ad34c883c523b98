"""What `check` and `rewrite` make of whole repositories, and what tf_upgrade_v2 makes of them."""
