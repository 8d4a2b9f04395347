import { isObject, isText, type JsonObject } from './read-json.ts';

/** Rules of one run, found by index or by id. */
export interface SarifRules {
  /** The descriptor that a result, or a reference of section 3.52, means. */
  find(reference: JsonObject): JsonObject | undefined;
}

interface Component {
  readonly value: JsonObject;
  readonly rules: readonly unknown[];
  readonly byId: ReadonlyMap<string, JsonObject>;
  readonly byGuid: ReadonlyMap<string, JsonObject>;
}

/** A hierarchical id has at most this many parts. */
const maxParts = 16;

/**
 * Reads the rules of a run's driver and its extensions, each once. An id matches a descriptor whose id it extends by
 * components (`CA1000/1` means `CA1000`; sections 3.27.5, 3.49.3, 3.52.4).
 */
export function readRules(run: JsonObject, member: 'rules' | 'notifications' = 'rules'): SarifRules {
  const tool = isObject(run.tool) ? run.tool : {};
  const extensions = Array.isArray(tool.extensions) ? tool.extensions : [];
  const [driver, ...others] = [tool.driver, ...extensions].map((one) => toComponent(one, member));
  const components = [driver, ...others];
  return {
    find(reference) {
      const named = isObject(reference.toolComponent) ? reference.toolComponent : undefined;
      const owner = named === undefined ? driver : (componentOf(named, others, components) ?? driver);
      const indexed = itemAt(owner?.rules ?? [], reference.index);
      if (isObject(indexed)) return indexed;
      const byGuid = isText(reference.guid) ? owner?.byGuid.get(reference.guid) : undefined;
      if (byGuid !== undefined || !isText(reference.id)) return byGuid;
      const searched = named === undefined ? components : [owner];
      for (const id of idsOf(reference.id))
        for (const component of searched) {
          const found = component?.byId.get(id);
          if (found !== undefined) return found;
        }
      return undefined;
    },
  };
}

function toComponent(value: unknown, member: 'rules' | 'notifications'): Component | undefined {
  if (!isObject(value)) return undefined;
  const rules: readonly unknown[] = Array.isArray(value[member]) ? value[member] : [];
  const byId = new Map<string, JsonObject>();
  const byGuid = new Map<string, JsonObject>();
  for (const rule of rules) {
    if (!isObject(rule)) continue;
    if (isText(rule.id) && !byId.has(rule.id)) byId.set(rule.id, rule);
    if (isText(rule.guid)) byGuid.set(rule.guid, rule);
  }
  return { value, rules, byId, byGuid };
}

/** The component that a reference of section 3.54 means: an extension by index, any by guid or name. */
function componentOf(
  { index, guid, name }: JsonObject,
  extensions: readonly (Component | undefined)[],
  all: readonly (Component | undefined)[],
): Component | undefined {
  const indexed = itemAt(extensions, index);
  return (
    indexed ??
    all.find(
      (one) =>
        (isText(guid) && one?.value.guid === guid) ||
        (guid === undefined && isText(name) && one?.value.name === name),
    )
  );
}

/** `a/b/c`, `a/b`, `a`. */
function* idsOf(id: string): Generator<string> {
  let rest = id;
  for (let parts = 0; parts < maxParts; parts += 1) {
    yield rest;
    const slash = rest.lastIndexOf('/');
    if (slash <= 0) return;
    rest = rest.slice(0, slash);
  }
}

/** The item of a list; indexes count from 0, and -1 means none. */
export function itemAt<Item>(list: readonly Item[], index: unknown): Item | undefined {
  return Number.isInteger(index) && Number(index) >= 0 ? list[Number(index)] : undefined;
}
