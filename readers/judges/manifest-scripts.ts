/** What a `package.json` has run, read without trust in its form. */
export interface ManifestScripts {
  /** The file that stands for the directory. */
  readonly main: string | undefined;
  /** The command of a script; `undefined` where there is none of that name. */
  command(name: string): string | undefined;
  /**
   * A script with the hooks that a package manager runs around it; of a pattern (`check:*`) every script that it takes.
   */
  named(script: string): readonly string[];
}

export function manifestScripts(text: string): ManifestScripts {
  const members = membersOf(text);
  const scripts = new Map(Object.entries(asObject(members.scripts)));
  return {
    main: typeof members.main === 'string' ? members.main : undefined,
    command: (name) => {
      const command = scripts.get(name);
      return typeof command === 'string' ? command : undefined;
    },
    named: (script) =>
      script.includes('*')
        ? [...scripts.keys()].filter((name) => name.startsWith(script.slice(0, script.indexOf('*'))))
        : ['pre', '', 'post'].map((hook) => hook + script),
  };
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
