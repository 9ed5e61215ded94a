"""The file formats: descriptions, the engines that read them, and formats with readers of their own.

Read `form` first and `recognition` (which format a file has), then a description and its engine:

* rows of JSON: `dialect` and `rows`; `text_dialects`, `token_dialects`, `label_studio`;
* columns: `column_format` and `columns`; `conll`, `conllu`, `vrt`;
* markup: `markup`;
* others: `documents.FileFormat`; `brat`, `tables`, `inline`, `mentions`, `webanno`, `gate_xml`, `uima`, `fair`, `tags`,
  `nerval`, `docbin`.

`catalogue` has the writers of all formats, `writer` what a format cannot hold. A new format needs a description, and an
entry in `form`.
"""
