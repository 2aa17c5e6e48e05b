"""An app that looks where its connections to the database come from."""
