import { createFakeCorpusFiles } from "./fake-corpus-files.ts";
import { createFakeDocumentReader } from "./fake-document-reader.ts";
import { describeCorpusFilesConformance } from "./corpus-files-conformance.ts";
import { describeDocumentReaderConformance } from "./document-reader-conformance.ts";

const files = createFakeCorpusFiles();
describeCorpusFilesConformance("the fake", () => files);
describeDocumentReaderConformance("the fake", createFakeDocumentReader);
