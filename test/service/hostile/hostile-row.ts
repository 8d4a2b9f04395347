/** What a row may speak of. */
export interface HostilePlace {
  readonly port: number;
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  readonly token: string;
  /** Of runs of the engine. */
  readonly engineToken: string;
  /** Root of the repository. */
  readonly root: string;
  /** A directory beside it; `out` in the repository leads there. */
  readonly outside: string;
}

/** One answer that has to come. */
export interface ExpectedAnswer {
  readonly status: number;
  /** Of the error envelope; absent where the answer is none. */
  readonly code?: string;
  /** The whole JSON body. */
  readonly body?: unknown;
  /** The value of the header `allow`. */
  readonly allow?: string;
}

/** One hostile client as data: the octets that it sends on a connection of its own, and all that may come of it. */
export interface HostileRow<Place = HostilePlace> {
  readonly says: string;
  readonly send: (place: Place) => Uint8Array;
  readonly answers: readonly ExpectedAnswer[];
  /** Closes its half when all is sent. */
  readonly halfCloses?: boolean;
  /** Sends these octets again and again until it is answered. */
  readonly drips?: string;
  /** Marks that the repository has of it; none unless told. */
  readonly stores?: readonly string[];
  /** Types of the events that go out; `dirty_marked` where it stores anything, unless told. */
  readonly publishes?: readonly string[];
}

type Send = HostileRow['send'];

/** A row whose only answer is a refusal. */
export function refused(status: number, code: string): (says: string, send: Send) => HostileRow {
  return (says, send) => ({ says, send, answers: [{ status, code }] });
}

/** A row whose only answer is 200; `more` says what comes of it. */
export function accepted(says: string, send: Send, more: Partial<HostileRow> = {}): HostileRow {
  return { says, send, answers: [{ status: 200 }], ...more };
}
