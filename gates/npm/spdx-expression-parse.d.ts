declare module 'spdx-expression-parse' {
  export interface SpdxLicense {
    readonly license: string;
    readonly plus?: true;
    readonly exception?: string;
  }
  export interface SpdxBranch {
    readonly left: SpdxNode;
    readonly conjunction: 'and' | 'or';
    readonly right: SpdxNode;
  }
  export type SpdxNode = SpdxLicense | SpdxBranch;
  /** Throws on anything that is not an SPDX expression. */
  export default function parse(source: string): SpdxNode;
}
