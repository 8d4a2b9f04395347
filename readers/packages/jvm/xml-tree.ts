import { createRequire } from 'node:module';

/** An element of a project file. Names have no prefix; `text` is what it holds directly, at most 4,096 characters. */
export interface XmlElement {
  readonly name: string;
  readonly line: number;
  readonly children: XmlElement[];
  text: string;
}

const maxDepth = 100;
const maxElements = 500_000;

class Stop extends Error {}

/** The root element, or why there is none. Document type declarations are refused. */
export function xmlTree(text: string): XmlElement | string {
  // Loaded here: most changes bring no such file.
  const { SaxesParser } = createRequire(import.meta.url)('saxes') as typeof import('saxes');
  const parser = new SaxesParser({ position: true });
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  const stop = (reason: string): never => {
    throw new Stop(reason);
  };
  parser.on('error', () => stop('it is not well-formed XML'));
  parser.on('doctype', () => stop('it declares a document type'));
  parser.on('opentag', ({ name }) => {
    elements += 1;
    if (open.length >= maxDepth || elements > maxElements)
      stop(`it is nested deeper than ${maxDepth} or has more than ${maxElements} elements`);
    const element = { name: name.slice(name.indexOf(':') + 1), line: parser.line, children: [], text: '' };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  const add = (chunk: string): void => {
    const element = open.at(-1);
    if (element && element.text.length + chunk.length <= 4096) element.text += chunk;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => void open.pop());
  try {
    parser.write(text).close();
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
    return thrown.message;
  }
  return root ?? 'it is not well-formed XML';
}

/** Every element below `root` with its parent and the parent's parent, in the order of the text. */
export function* descendants(
  root: XmlElement,
  above?: XmlElement,
): Generator<readonly [element: XmlElement, parent: XmlElement, above: XmlElement | undefined]> {
  for (const element of root.children) {
    yield [element, root, above];
    yield* descendants(element, root);
  }
}

/** Text of the last child of that name, or an empty one. */
export function childText(element: XmlElement, name: string): string {
  return element.children.findLast((child) => child.name === name)?.text.trim() ?? '';
}
