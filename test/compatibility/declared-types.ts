import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Node } from 'typescript/unstable/ast';
import {
  API,
  type Checker,
  ElementFlags,
  ModifierFlags,
  NodeBuilderFlags,
  type NodeHandle,
  ObjectFlags,
  type Signature,
  SignatureKind,
  SymbolFlags,
  type Type,
  TypeFlags,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync';

/** A type as JSON: its text while that is short, else its parts. A list is a set: its order says nothing. */
export type Written = string | readonly Written[] | { readonly [part: string]: Written };

/** The exports of a module by name; a name that is both a type and a value has both parts. */
export type WrittenExports = Readonly<Record<string, Written>>;

const maxText = 100;
const maxDepth = 40;

/** An internal declaration file, and those of its types that clients see. */
export interface InnerTypes {
  readonly file: string;
  readonly names: readonly string[];
}

/**
 * Reads declaration files with the compiler and writes out the type of every export of the modules in `files`, and of
 * the named exports of `inner` ones; the result is in this order. It depends on the types alone: an internal name is
 * replaced by its structure, members and unions are sorted, and names of parameters are left out. So a declaration can
 * move, or get another internal name, without a difference. Types of Node and of the language keep their names. Throws
 * where a type cannot be resolved.
 */
export function readExports(
  files: readonly string[],
  inner: readonly InnerTypes[],
  typeRoot: string,
): readonly WrittenExports[] {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'writ-declarations-')));
  const project = join(directory, 'tsconfig.json');
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    typeRoots: [typeRoot],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const all = [...files, ...inner.map(({ file }) => file)];
  writeFileSync(project, JSON.stringify({ compilerOptions, files: all }));
  const api = new API({ cwd: directory });
  try {
    const [opened] = api.updateSnapshot({ openProjects: [project] }).getProjects();
    if (opened === undefined) throw new Error(`the compiler opens no project in ${project}`);
    const { checker, program } = opened;
    const modules = all.map((file) => {
      const source = program.getSourceFile(file);
      const module = source && checker.getSymbolAtLocation(source);
      if (module === undefined) throw new Error(`${file} is no module`);
      return { stem: basename(file, '.d.ts'), exported: exportsOf(checker, module) };
    });
    const open = modules.slice(0, files.length);
    return modules.map(({ exported }, at) => {
      const wanted = inner[at - files.length]?.names;
      const own = wanted === undefined ? exported : exported.filter(({ name }) => wanted.includes(name));
      if (wanted !== undefined && own.length < wanted.length)
        throw new Error(`${all[at]} exports ${own.length} of ${wanted.join(', ')}`);
      const others = open
        .filter((other) => other.exported !== exported)
        .flatMap((other) =>
          other.exported.map(({ name, symbol }) => ({ name: `${other.stem}:${name}`, symbol })),
        );
      return writeModule(checker, own, exportedNames(checker, [...own, ...others]));
    });
  } finally {
    api.close();
    rmSync(directory, { recursive: true });
  }
}

interface Exported {
  readonly name: string;
  /** The exported symbol itself, with aliases resolved. */
  readonly symbol: TypeSymbol;
}

function exportsOf(checker: Checker, module: TypeSymbol): readonly Exported[] {
  return checker
    .getExportsOfModule(module)
    .map((symbol) => ({
      name: symbol.name,
      symbol: symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function writeModule(checker: Checker, exported: readonly Exported[], names: ExportedNames): WrittenExports {
  const writer = typeWriter(checker, names);
  return Object.fromEntries(
    exported.map(({ name, symbol }) => [
      name,
      {
        ...(symbol.flags & SymbolFlags.Type ? { type: writer.declared(symbol) } : {}),
        ...(symbol.flags & SymbolFlags.Value ? { value: writer.value(symbol) } : {}),
      },
    ]),
  );
}

/** Names that stand for a type: of this module, else of another one, as `plugin:Rule`. */
interface ExportedNames {
  /** By the id of a type, or of the generic type that another one is an instance of. */
  readonly byType: ReadonlyMap<number, string>;
  /** By the ids of a union's members, sorted. */
  readonly byUnion: ReadonlyMap<string, string>;
  /** By the id of an alias' symbol, for instances of a generic alias. */
  readonly byAlias: ReadonlyMap<number, string>;
}

function exportedNames(checker: Checker, exported: readonly Exported[]): ExportedNames {
  const byType = new Map<number, string>();
  const byUnion = new Map<string, string>();
  const byAlias = new Map<number, string>();
  // Of two names of one type the first in order is kept.
  for (const { name, symbol } of exported.toReversed()) {
    if (!(symbol.flags & SymbolFlags.Type)) continue;
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    if (symbol.flags & SymbolFlags.TypeAlias) byAlias.set(symbol.id, name);
    if (type.isUnionType()) byUnion.set(unionKey(type.getTypes()), name);
    if (type.isObjectType() && !isExternal(type.getSymbol())) byType.set(type.id, name);
  }
  return { byType, byUnion, byAlias };
}

function unionKey(types: readonly Type[]): string {
  return types
    .map(({ id }) => id)
    .sort((a, b) => a - b)
    .join();
}

/** Writes types of one module. */
function typeWriter(checker: Checker, names: ExportedNames) {
  /** Ids of the types that are being written, from the outermost to the innermost. */
  const open: number[] = [];
  /** Inner types that were written, by id. What points at a type further out depends on where it is written. */
  const done = new Map<number, Written>();
  /** The outermost type is the one that a name is declared for: it is not written as that name. */
  let isDeclaring = false;
  const undefinedId = checker.getUndefinedType().id;

  const write = (type: Type): Written => {
    const known = open.length === 0 && isDeclaring ? undefined : nameOf(type);
    if (known !== undefined) return known;
    if (type.isErrorType()) throw new Error('a type cannot be resolved');
    if (type.isTypeParameter()) return type.isThisType ? 'this' : (type.getSymbol()?.name ?? 'unnamed');
    if (type.isLiteralType())
      return typeof type.value === 'string' ? `'${type.value.replaceAll("'", "\\'")}'` : `${type.value}`;
    if (type.isIntrinsicType()) return type.intrinsicName;
    if (type.flags & TypeFlags.UniqueESSymbol) return 'unique symbol';
    const at = open.lastIndexOf(type.id);
    if (at !== -1) return `recursive(${open.length - at})`;
    if (open.length > maxDepth) throw new Error(`types nest deeper than ${maxDepth}`);
    const kept = open.length === 0 ? undefined : done.get(type.id);
    if (kept !== undefined) return kept;
    open.push(type.id);
    try {
      const written = shorten(partsOf(type));
      if (open.length > 1 && !toText(written).includes('recursive(')) done.set(type.id, written);
      return written;
    } finally {
      open.pop();
    }
  };

  const partsOf = (type: Type): Written => {
    if (type.isUnionType()) return union(type.getTypes(), open.length > 1 || !isDeclaring);
    if (type.isIntersectionType() && !type.getTypes().every(isOpenObject))
      return { 'all of': type.getTypes().map(write) };
    if (type.isObjectType() || type.isIntersectionType())
      return listParts(type) ?? externalParts(type) ?? objectParts(type);
    // What is left depends on type parameters: conditional types, `keyof T`, `T[K]`.
    return asTyped(type);
  };

  const asTyped = (type: Type): string => {
    const { NoTruncation, InTypeAlias, UseSingleQuotesForStringLiteralType } = NodeBuilderFlags;
    const flags = NoTruncation | InTypeAlias | UseSingleQuotesForStringLiteralType;
    return checker.typeToString(type, undefined, flags).replace(/\s+/g, ' ');
  };

  /** Absent where the type is neither an array nor a tuple. */
  const listParts = (type: Type): Written | undefined => {
    if (checker.isTupleType(type) && type.isTypeReference()) {
      const target = type.getTarget();
      if (!target.isTupleType()) return undefined;
      const items = checker.getTypeArguments(type).map((item, index) => {
        const flags = target.elementFlags[index] ?? ElementFlags.Required;
        const key =
          flags & ElementFlags.Rest
            ? `...${index}`
            : flags & ElementFlags.Optional
              ? `${index}?`
              : `${index}`;
        return [key, write(item)] as const;
      });
      return { [target.readonly ? 'readonly tuple' : 'tuple']: Object.fromEntries(items) };
    }
    if (!checker.isArrayType(type) || !type.isTypeReference()) return undefined;
    const [item] = checker.getTypeArguments(type);
    const isReadonly = type.getSymbol()?.name === 'ReadonlyArray';
    return item && { [isReadonly ? 'readonly []' : '[]']: write(item) };
  };

  /** A type that the language, Node or a dependency declares keeps its name. */
  const externalParts = (type: Type): Written | undefined => {
    const symbol = type.getSymbol();
    if (symbol === undefined || symbol.name.startsWith('__') || !isExternal(symbol)) return undefined;
    const given = type.isTypeReference() ? checker.getTypeArguments(type).filter(isNoThis) : [];
    return given.length === 0 ? symbol.name : { [`${symbol.name}<>`]: byIndex(given.map(write)) };
  };

  const objectParts = (type: Type): Written => {
    const isMapped = type.isObjectType() && (type.objectFlags & ObjectFlags.Mapped) !== 0;
    const properties = checker.getPropertiesOfType(type);
    const indexes = checker.getIndexInfosOfType(type);
    if (isMapped && properties.length + indexes.length === 0) return asTyped(type);
    const bases = type.isClassOrInterface() ? checker.getBaseTypes(type) : [];
    const foreign = bases.filter((base) => isExternal(base.getSymbol()));
    const calls = checker.getSignaturesOfType(type, SignatureKind.Call);
    const makes = checker.getSignaturesOfType(type, SignatureKind.Construct);
    const members = [
      ...properties.filter(isSeen).map((one) => [memberKey(one), memberType(one)] as const),
      ...indexes.map(
        ({ keyType, valueType, isReadonly }) =>
          [`${isReadonly ? 'readonly ' : ''}[${toText(write(keyType))}]`, write(valueType)] as const,
      ),
    ].sort(([a], [b]) => (a < b ? -1 : 1));
    const [only] = calls;
    if (only && calls.length + makes.length + members.length + foreign.length === 1) return signature(only);
    return Object.fromEntries([
      ...(foreign.length === 0 ? [] : [['extends', foreign.map(write)] as const]),
      ...calls.map((one, index) => [`call ${index + 1}`, signature(one)] as const),
      ...makes.map((one, index) => [`new ${index + 1}`, signature(one)] as const),
      ...members,
    ]);
  };

  const signature = (one: Signature): Written => {
    const generic = one.getTypeParameters().map((parameter) => {
      const limit = checker.getConstraintOfTypeParameter(parameter);
      return `${parameter.getSymbol()?.name}${limit === undefined ? '' : ` extends ${toText(write(limit))}`}`;
    });
    const parameters = one.getParameters();
    const given = parameters.map((parameter, index) => {
      const isRest = one.hasRestParameter && index === parameters.length - 1;
      const isOptional = isMarkedOptional(parameter);
      const key = `${isRest ? '...' : ''}${index}${isOptional ? '?' : ''}`;
      return [key, isOptional ? withoutUndefined(typeOf(parameter)) : write(typeOf(parameter))] as const;
    });
    const predicate = checker.getTypePredicateOfSignature(one);
    const back = checker.getReturnTypeOfSignature(one);
    const returned = back === undefined ? 'void' : write(back);
    return {
      ...(generic.length === 0 ? {} : { '<>': generic.join(', ') }),
      '()': Object.fromEntries(given),
      '=>': predicate?.type
        ? { [`${predicate.parameterIndex ?? 'this'} is`]: write(predicate.type) }
        : returned,
    };
  };

  const typeOf = (symbol: TypeSymbol): Type => {
    const type = checker.getTypeOfSymbol(symbol);
    if (type === undefined) throw new Error(`\`${symbol.name}\` has no type`);
    return type;
  };

  /** The question mark of an optional member is in its key; `undefined` that is written out stays. */
  const memberType = (one: TypeSymbol): Written => {
    const type = typeOf(one);
    if (!(one.flags & SymbolFlags.Optional) || !type.isUnionType()) return write(type);
    return union(
      type.getTypes().filter(({ flags, id }) => !(flags & TypeFlags.Undefined) || id === undefinedId),
    );
  };

  const withoutUndefined = (type: Type): Written =>
    type.isUnionType()
      ? union(type.getTypes().filter(({ flags }) => !(flags & TypeFlags.Undefined)))
      : write(type);

  const union = (types: readonly Type[], mayBeNamed = true): Written => {
    const [first] = types;
    if (first !== undefined && types.length === 1) return write(first);
    const present = types.filter(({ flags }) => !(flags & TypeFlags.Nullable));
    const name = mayBeNamed ? names.byUnion.get(unionKey(present)) : undefined;
    const written = (name === undefined ? types : types.filter((one) => !present.includes(one))).map(write);
    const isBoolean = written.includes('true') && written.includes('false');
    const all = isBoolean
      ? [...written.filter((one) => one !== 'true' && one !== 'false'), 'boolean']
      : written;
    const named = name === undefined ? all : [...all, name];
    return named.length === 1 && named[0] !== undefined ? named[0] : shorten({ 'one of': sorted(named) });
  };

  const nameOf = (type: Type): string | undefined => {
    const alias = type.getAliasSymbol();
    const aliased = alias && names.byAlias.get(alias.id);
    if (aliased !== undefined) return withArguments(aliased, type.getAliasTypeArguments());
    if (type.isUnionType()) return names.byUnion.get(unionKey(type.getTypes()));
    const own = names.byType.get(type.id);
    if (!type.isTypeReference()) return own;
    const generic = own ?? names.byType.get(type.getTarget().id);
    return generic && withArguments(generic, checker.getTypeArguments(type).filter(isNoThis));
  };

  const withArguments = (name: string, given: readonly Type[]): string =>
    given.length === 0 ? name : `${name}<${given.map((one) => toText(write(one))).join(', ')}>`;

  return {
    /** The type that a name declares. */
    declared(symbol: TypeSymbol): Written {
      const type = checker.getDeclaredTypeOfSymbol(symbol);
      const parameters = type.isClassOrInterface()
        ? type.getLocalTypeParameters()
        : type.getAliasTypeArguments();
      const generic = parameters.map((one) => one.getSymbol()?.name ?? 'unnamed');
      isDeclaring = true;
      const written = write(type);
      return generic.length === 0 ? written : { [`<${generic.join(', ')}>`]: written };
    },
    /** The type of a value. */
    value(symbol: TypeSymbol): Written {
      isDeclaring = false;
      return write(typeOf(symbol));
    },
  };
}

/** An object type whose members can be listed beside those of another one. */
function isOpenObject(type: Type): boolean {
  return type.isObjectType() && !isExternal(type.getSymbol());
}

function isNoThis(type: Type): boolean {
  return !type.isTypeParameter() || type.isThisType !== true;
}

/** Declared by the language, Node or a dependency. */
function isExternal(symbol: TypeSymbol | undefined): boolean {
  if (symbol === undefined || symbol.declarations.length === 0) return false;
  return symbol.declarations.every(({ path }) => /^bundled:|\/node_modules\//.test(path));
}

function isSeen(member: TypeSymbol): boolean {
  if (/^__#/.test(member.escapedName) || isExternal(member)) return false;
  return !hasModifier(member, ModifierFlags.Private);
}

/** `readonly name?`, or `[Symbol.asyncDispose]` for a well-known symbol. */
function memberKey(member: TypeSymbol): string {
  const isGetter = (member.flags & SymbolFlags.Accessor) === SymbolFlags.GetAccessor;
  const isReadonly = isGetter || hasModifier(member, ModifierFlags.Readonly) || (member.checkFlags & 8) !== 0;
  const name = member.escapedName.replace(/^__@(\w+)@.*$/, (_, word: string) =>
    Object.hasOwn(Symbol, word) ? `[Symbol.${word}]` : '[unique symbol]',
  );
  return `${isReadonly ? 'readonly ' : ''}${name}${member.flags & SymbolFlags.Optional ? '?' : ''}`;
}

function hasModifier(symbol: TypeSymbol, flag: ModifierFlags): boolean {
  const node = nodeOf(symbol.valueDeclaration) as (Node & { readonly modifierFlags?: number }) | undefined;
  return ((node?.modifierFlags ?? 0) & flag) !== 0;
}

function isMarkedOptional(parameter: TypeSymbol): boolean {
  const node = nodeOf(parameter.valueDeclaration) as (Node & { readonly questionToken?: Node }) | undefined;
  return node?.questionToken !== undefined;
}

function nodeOf(handle: NodeHandle | undefined): Node | undefined {
  return handle?.resolve();
}

function byIndex(items: readonly Written[]): Written {
  return Object.fromEntries(items.map((item, index) => [`${index}`, item]));
}

function sorted(items: readonly Written[]): readonly Written[] {
  return items.toSorted((a, b) => (toText(a) < toText(b) ? -1 : 1));
}

function shorten(written: Written): Written {
  const text = toText(written);
  return text.length > maxText ? written : text;
}

/** The type on one line. */
function toText(written: Written): string {
  if (typeof written === 'string') return written;
  if (isList(written)) return written.map(toText).join(', ');
  const parts = Object.entries(written);
  const [[key, value] = ['', ''], ...more] = parts;
  if (more.length === 0) {
    if (key === 'one of' && isList(value)) return value.map(inUnion).join(' | ');
    if (key === 'all of' && isList(value)) return value.map(inUnion).join(' & ');
    if (key === '[]') return `${inList(value)}[]`;
    if (key === 'readonly []') return `readonly ${inList(value)}[]`;
    if (key === 'tuple' || key === 'readonly tuple')
      return `${key.replace('tuple', '')}[${membersOf(value).join(', ')}]`;
    if (key.endsWith('<>'))
      return `${key.slice(0, -1)}${Object.values(value)
        .map((one) => toText(one))
        .join(', ')}>`;
    if (key.endsWith(' is')) return `${key} ${toText(value)}`;
  }
  const { '<>': generic, '()': given, '=>': returned } = written;
  if (given !== undefined && returned !== undefined)
    return `${generic === undefined ? '' : `<${toText(generic)}>`}(${membersOf(given).join(', ')}) => ${toText(returned)}`;
  return `{ ${membersOf(written).join('; ')} }`;
}

function isList(written: Written): written is readonly Written[] {
  return Array.isArray(written);
}

/** `name: type` of each member; a position has no name, but may be marked. */
function membersOf(written: Written): readonly string[] {
  return Object.entries(written).map(([key, value]) => {
    const [, rest = '', mark = ''] = /^(\.\.\.)?\d+(\?)?$/.exec(key) ?? [];
    return /^(?:\.\.\.)?\d+\??$/.test(key) ? `${rest}${toText(value)}${mark}` : `${key}: ${toText(value)}`;
  });
}

function inUnion(written: Written): string {
  const text = toText(written);
  return /=>/.test(text) ? `(${text})` : text;
}

function inList(written: Written): string {
  const text = toText(written);
  return /=>| [|&] |^readonly /.test(text) ? `(${text})` : text;
}
