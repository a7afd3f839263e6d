// Runs lightweight stand-ins of hubs (stand-in.mjs) at the given ports, all in one process. Each stand-in is
// a copy of the module with its own state.

for (const port of process.argv.slice(2)) {
  process.env.SETUP_PORT = port;
  await import(`./stand-in.mjs?${port}`);
}
