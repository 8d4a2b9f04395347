/** Why the egress proxy refused a connection, or why the connection failed. */
export type NetworkObstacle =
  /** The request or the name of the host cannot be read one way only. */
  | 'malformed'
  | 'not-listed'
  | 'port'
  /** One of the host's addresses is not public, or is this machine's own. */
  | 'address'
  /** Plain HTTP with a `Host` header that names another host. */
  | 'host-header'
  | 'not-tls'
  | 'no-server-name'
  | 'encrypted-hello'
  /** TLS for a host that differs from the tunnel's target. */
  | 'server-name'
  /** More connections or bytes than a check may have. */
  | 'limit'
  | 'unresolved'
  | 'unreachable'
  | 'time';

/** Connections of a check to one host that ended alike. */
export interface NetworkUse {
  /** In normal form; of a target that cannot be read, what was readable of it. */
  readonly host: string;
  /** 0 where none could be read. */
  readonly port: number;
  readonly via: 'connect' | 'http';
  /** `failed`: let through, and then there was no connection. */
  readonly outcome: 'allowed' | 'refused' | 'failed';
  readonly why?: NetworkObstacle;
  /** The address that was connected to, or the one for which it was refused. */
  readonly address?: string;
  /** `networkReason` of the rules that open the host, or that the policy opens all. */
  readonly reasons: readonly string[];
  readonly connections: number;
  /** Of what is inside the tunnel, or of the bodies. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** The network of a check that had one. */
export interface CheckNetwork {
  /**
   * What was open to it; `*` is every public host. Where its commands match several rules, a host has to be open to
   * each command.
   */
  readonly opened: readonly { readonly hosts: readonly string[]; readonly reason: string }[];
  readonly uses: readonly NetworkUse[];
}
