/** Signatures of a zip archive's records, little-endian (APPNOTE 4.3). */
export const zipSignatures = {
  local: 0x04034b50,
  central: 0x02014b50,
  end: 0x06054b50,
  wideEnd: 0x06064b50,
  locator: 0x07064b50,
} as const;

/** Bytes of its records, without names, extra fields and comments; of the longest of those (APPNOTE 4.3). */
export const zipSizes = { local: 30, central: 46, end: 22, wideEnd: 56, locator: 20, text: 0xffff } as const;

/** In a field of 32 bits: the value stands in the zip64 one. */
export const wide32 = 0xffffffff;

export interface ZipLimits {
  readonly members: number;
  /** In sum, of the members that are wanted, unpacked. */
  readonly bytes: number;
  /** Of each member, wanted or not, packed and unpacked. */
  readonly memberBytes: number;
  /**
   * No zip64, and nothing between the last record of the directory and the end: what stands in no directory would be
   * looked at by nobody.
   */
  readonly isPlain: boolean;
  /** By its name as latin1; the others are not unpacked. Absent: all are. */
  readonly isWanted?: (name: string) => boolean;
}

/** Bytes that a reader needs next: whoever holds the archive hands them in, fewer where it ends before. */
export interface WantedBytes {
  readonly at: number;
  readonly length: number;
}

/**
 * Reading that asks for bytes and ends with a value, so that it is the same for an archive in memory and for one in a
 * file.
 */
export type ZipSteps<T extends object> = Generator<WantedBytes, T, Buffer>;
