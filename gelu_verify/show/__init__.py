"""What is shown: a document of blocks, rendered for a terminal, as Markdown, as an HTML page, in LaTeX; and charts."""
