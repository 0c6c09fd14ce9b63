DROP INDEX `messages_created`;--> statement-breakpoint
CREATE INDEX `messages_created` ON `messages` (`dataset`,`created_at`,`id`,`channel`,`subscriber_id`,`transaction_id`,`context`);