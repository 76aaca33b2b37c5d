"""What is charged: prices of APIs by day, rents, purchases, and what a kilowatt-hour stands for."""
