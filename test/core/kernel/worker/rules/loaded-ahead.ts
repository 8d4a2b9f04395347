Object.assign(globalThis, { wasLoadedAhead: true });
