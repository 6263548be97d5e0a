"""What is known about logs: the cards of ``data_catalog.yaml``, read strictly."""
