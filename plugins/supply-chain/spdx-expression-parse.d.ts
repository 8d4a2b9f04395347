/* Types of the package spdx-expression-parse, which brings none. */
declare module 'spdx-expression-parse' {
  /** Throws on anything that is not an SPDX license expression. */
  export default function parse(source: string): unknown;
}
