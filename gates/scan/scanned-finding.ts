import type { Finding } from '../../core/contract/finding.ts';

/** A finding with what stands around it, for a code frame and for a fingerprint that survives moved lines. */
export interface ScannedFinding extends Finding {
  /** Lines of the candidate around `line`, in order; lines far from any change are not known. */
  readonly around?: readonly { readonly line: number; readonly text: string; readonly added: boolean }[];
}
