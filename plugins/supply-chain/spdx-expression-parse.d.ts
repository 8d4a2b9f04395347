declare module 'spdx-expression-parse' {
  /** Throws on anything that is not an SPDX license expression. */
  export default function parse(source: string): unknown;
}
