"""The operator told of alerts elsewhere too, by the channels that the settings name. Its own inbox always has them first."""
