import { toFrame } from '../../../http/broadcast.ts';

/** The frame of event `seq`, about `bytes` long: server and readers make the same one. */
export function tickFrame(seq: number, bytes: number): Buffer {
  return toFrame({ type: 'tick', id: seq, data: JSON.stringify({ seq, pad: 'é'.repeat(bytes / 2 - 32) }) });
}
