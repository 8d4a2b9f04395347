/** One way to start a server. */
export interface ServerCommand {
  /** The first word is a name on PATH. */
  readonly command: readonly string[];
  /** Arguments that make the command print its version. If absent, it is enough that the command exists. */
  readonly version?: readonly string[];
  /** What the first line of that has to be like. */
  readonly accepts?: RegExp;
}

/** A language server: the files that it serves, and its settings. */
export interface LanguageServer {
  /** How the files end, with the identifier of the protocol for each. */
  readonly files: Readonly<Record<string, string>>;
  /** Names of project files: when one of them changes, writ restarts the server. */
  readonly project: readonly string[];
  /** writ uses the first command that exists. */
  readonly commands: readonly ServerCommand[];
  /** `settings` answers the server's configuration requests, by section. `initialization` is sent at its start. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly initialization?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Directories at the top of a workspace from which it loads code: empty for it unless they were given to it. */
  readonly loads?: readonly string[];
  /** It reads the whole project before its answers are whole. */
  readonly warmsUp?: true;
}

/** A directory that is mounted over the workspace of an attempt. */
export interface GivenDirectory {
  readonly directory: string;
  readonly source: string;
  readonly sha256: string;
}
