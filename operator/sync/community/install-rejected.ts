import { RepositoryRefused } from './refused';

/** The API server does not accept the pod that installs, or the Secrets with its files: such as for a quota. */
export class InstallRejected extends RepositoryRefused {}
