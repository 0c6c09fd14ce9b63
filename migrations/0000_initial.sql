CREATE TABLE `api_keys` (
	`hash` blob PRIMARY KEY NOT NULL,
	`environment` integer NOT NULL,
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `api_keys_environment` ON `api_keys` (`environment`);--> statement-breakpoint
CREATE TABLE `collections` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL
);
--> statement-breakpoint
CREATE TABLE `environments` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`profile` text,
	`assumptions` text NOT NULL,
	`clock` text NOT NULL,
	`random_seed` integer,
	`integrations` integer NOT NULL,
	`subscribers` integer NOT NULL,
	`workflows` integer NOT NULL,
	`messages` integer NOT NULL,
	`idempotency` integer NOT NULL,
	`snapshot_of` integer,
	`snapshot_name` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`integrations`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`subscribers`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`workflows`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`messages`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`idempotency`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`snapshot_of`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environments_id` ON `environments` (`id`) WHERE "environments"."snapshot_of" IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `environments_snapshot` ON `environments` (`snapshot_of`,`snapshot_name`);--> statement-breakpoint
CREATE INDEX `environments_integrations` ON `environments` (`integrations`);--> statement-breakpoint
CREATE INDEX `environments_subscribers` ON `environments` (`subscribers`);--> statement-breakpoint
CREATE INDEX `environments_workflows` ON `environments` (`workflows`);--> statement-breakpoint
CREATE INDEX `environments_messages` ON `environments` (`messages`);--> statement-breakpoint
CREATE INDEX `environments_idempotency` ON `environments` (`idempotency`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`collection` integer NOT NULL,
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` blob NOT NULL,
	`status` integer NOT NULL,
	`body` blob NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`collection`, `scope`, `key`),
	FOREIGN KEY (`collection`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_created` ON `idempotency_keys` (`collection`,`created_at`);--> statement-breakpoint
CREATE TABLE `integrations` (
	`collection` integer NOT NULL,
	`id` text NOT NULL,
	`identifier` text NOT NULL,
	`channel` text NOT NULL,
	`active` integer NOT NULL,
	`is_primary` integer NOT NULL,
	`deleted` integer NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`collection`, `id`),
	FOREIGN KEY (`collection`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `integrations_identifier` ON `integrations` (`collection`,`identifier`);--> statement-breakpoint
CREATE UNIQUE INDEX `integrations_one_primary_per_channel` ON `integrations` (`collection`,`channel`) WHERE "integrations"."is_primary" = 1 AND "integrations"."deleted" = 0;--> statement-breakpoint
CREATE INDEX `integrations_id` ON `integrations` (`id`);--> statement-breakpoint
CREATE TABLE `messages` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`collection` integer NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`channel` text NOT NULL,
	`subscriber_id` text,
	`transaction_id` text NOT NULL,
	`context` text NOT NULL,
	`document` text NOT NULL,
	FOREIGN KEY (`collection`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_id` ON `messages` (`collection`,`id`);--> statement-breakpoint
CREATE INDEX `messages_created` ON `messages` (`collection`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `messages_channel` ON `messages` (`collection`,`channel`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `messages_subscriber` ON `messages` (`collection`,`subscriber_id`,`created_at`,`id`,`channel`,`context`);--> statement-breakpoint
CREATE INDEX `messages_transaction` ON `messages` (`collection`,`transaction_id`,`created_at`,`id`,`channel`,`subscriber_id`,`context`);--> statement-breakpoint
CREATE INDEX `messages_context` ON `messages` (`collection`,`context`,`created_at`,`id`,`channel`,`subscriber_id`);--> statement-breakpoint
CREATE TABLE `subscribers` (
	`collection` integer NOT NULL,
	`id` text NOT NULL,
	`subscriber_id` text NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`collection`, `id`),
	FOREIGN KEY (`collection`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_subscriber_id` ON `subscribers` (`collection`,`subscriber_id`);--> statement-breakpoint
CREATE TABLE `workflow_steps` (
	`collection` integer NOT NULL,
	`id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`step_id` text NOT NULL,
	`position` integer NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`collection`, `id`),
	FOREIGN KEY (`collection`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_steps_step_id` ON `workflow_steps` (`collection`,`workflow_id`,`step_id`);--> statement-breakpoint
CREATE TABLE `workflows` (
	`collection` integer NOT NULL,
	`id` text NOT NULL,
	`identifier` text NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`collection`, `id`),
	FOREIGN KEY (`collection`) REFERENCES `collections`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflows_identifier` ON `workflows` (`collection`,`identifier`);