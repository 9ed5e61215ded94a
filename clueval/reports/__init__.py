"""Results as text, Markdown, TSV: functions of the dictionary that `Result.to_dict` gives."""
