"""What is shown: a document of blocks, rendered for a terminal, as Markdown and as an HTML page; and charts."""
