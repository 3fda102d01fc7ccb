"""What is shown: a document of blocks, rendered for a terminal, as Markdown, HTML and LaTeX; and charts."""
