/** One file of the page, as it is served and shipped. */
export interface Asset {
  /** With its digest in it: another content has another name. */
  readonly name: string;
  readonly contentType: string;
  /** Of the text in UTF-8, lower-case hex. */
  readonly sha256: string;
  readonly text: string;
}
