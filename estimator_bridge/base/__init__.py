"""The ground floor: modules that any room may use. Importing this package imports nothing."""
