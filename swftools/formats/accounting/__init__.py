"""What readers of accounting logs share: values in bytes, times with zones, and the ledger of every record."""
