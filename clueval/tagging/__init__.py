"""Tags to spans: BIO (IOB2), IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1 and IOE2.

Read `schemes` and `decoder`, in this order. This
package does not deal with files, lines or documents.
"""
