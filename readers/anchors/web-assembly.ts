/** What is used of WebAssembly here; TypeScript declares it with the whole of a browser only. */
interface WebAssemblyParts {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** WebAssembly as every supported Node has it. */
export const webAssembly = Reflect.get(globalThis, 'WebAssembly') as WebAssemblyParts;
