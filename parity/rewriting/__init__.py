"""Results of `check` and `rewrite` on whole repositories, beside those of tf_upgrade_v2."""
