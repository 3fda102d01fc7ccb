"""What is worse: the one table of rules, over two results or over a result and a budget."""
