import { Document, isScalar, type Node, Scalar, visit } from 'yaml';

/** Texts that every version of YAML reads as texts, also where `on`, `1:30` and `0o7` are none. */
const PLAIN = /^[A-Za-z_][\w./-]*(:[\w./-]+)?( [\w./()-]+)*$/;
// `e5` is a number without a mantissa to some.
const RESERVED = /^(y|n|yes|no|on|off|true|false|null|nan|inf|infinity|e\d+)$/i;
/** Characters that a block would change or hide. */
const NOT_IN_BLOCK =
  /[^\n\x20-\x7e\u00a1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

/**
 * The text of a resource as kubectl reads it, whose YAML is of version 1.1: each text that could be read as something else is
 * in quotes, also as a key. The same value gives the same text.
 */
export function yamlText(resource: object): string {
  const document = new Document(resource, { aliasDuplicateObjects: false });
  quoteTexts(document);
  return document.toString({ lineWidth: 0, indentSeq: true, defaultStringType: 'PLAIN' });
}

/** Gives the texts in a document, or in one of its nodes, their quotes. */
export function quoteTexts(part: Document | Node): void {
  visit(part, (_, node) => {
    if (!isScalar(node) || typeof node.value !== 'string') return;
    node.type = typeOf(node.value);
  });
}

function typeOf(text: string): Scalar.Type {
  if (PLAIN.test(text) && !RESERVED.test(text)) return Scalar.PLAIN;
  const isBlock = text.includes('\n') && !NOT_IN_BLOCK.test(text) && !/^\s|[ \t]\n|^\n*$/.test(text);
  return isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
}
