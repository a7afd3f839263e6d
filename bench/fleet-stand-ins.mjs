// Light stand-ins of hubs (stand-in.mjs) at these ports, all in one process: each is a copy of the module with a state of its own.

for (const port of process.argv.slice(2)) {
  process.env.SETUP_PORT = port;
  await import(`./stand-in.mjs?${port}`);
}
